// A strict project imports no file without types, not even for its effect alone.
export {};
