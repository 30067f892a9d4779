import DOMPurify from "dompurify";

/**
 * HTML without scripts, styles, forms, frames, ids and roles, so that it can neither run code nor imitate the page's own controls. Links
 * open a new tab. It is in a box that it can't leave: a class of the page could otherwise make it cover the page.
 */
export function sanitize(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: [
      ...[
        "style",
        "form",
        "fieldset",
        "legend",
        "label",
        "input",
        "button",
        "textarea",
        "select",
        "optgroup",
        "option",
        "datalist",
        "output",
      ],
      ...["meter", "progress", "dialog", "audio", "video", "map", "area", "marquee", "template", "slot"],
    ],
    FORBID_ATTR: [
      ...["style", "id", "name", "for", "usemap", "popover", "popovertarget", "tabindex", "accesskey", "autofocus", "slot", "download"],
      // Only the first address of a srcset would be checked. The others change what screen readers say of the page.
      ...["srcset", "role", "aria-modal", "aria-live", "aria-owns", "aria-flowto", "aria-controls"],
    ],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https:|mailto:|\/(?![/\\]))/i,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  const box = document.createElement("div");
  box.style.contain = "content";
  box.append(fragment);
  const boxed = document.createDocumentFragment();
  boxed.append(box);
  return boxed;
}
