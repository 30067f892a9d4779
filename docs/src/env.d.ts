// Brings Starlight's `Astro.locals` into the types.
import "@astrojs/starlight";
