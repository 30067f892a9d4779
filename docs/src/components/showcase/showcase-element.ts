/** The picture with its button; the player, the SDK and the video are loaded when it is pressed. */
export class ShowcaseElement extends HTMLElement {
  connectedCallback(): void {
    const button = this.querySelector("button");
    const place = this.querySelector(".place");
    if (!button || !place) return;
    button.addEventListener("click", () => {
      button.disabled = true;
      import("./showcase.tsx").then(
        ({ mountShowcase }) => {
          button.hidden = true;
          mountShowcase(place);
        },
        // Without a network, the next press tries again.
        () => (button.disabled = false),
      );
    });
  }
}
