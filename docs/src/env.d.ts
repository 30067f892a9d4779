// Adds Starlight's `Astro.locals` to the types.
import "@astrojs/starlight";
