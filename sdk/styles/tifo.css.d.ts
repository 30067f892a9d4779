// Strict TypeScript projects can't import files without types, not even for side effects.
export {};
