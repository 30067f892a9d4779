import DOMPurify from "dompurify";

/**
 * HTML without scripts, styles, forms, frames and ids, so that it can neither run code nor cover or imitate the page's own controls. Links
 * open a new tab.
 */
export function sanitize(html: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(html, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: ["style", "form", "input", "button", "textarea", "select", "option", "dialog", "audio", "video", "map", "area"],
    FORBID_ATTR: ["style", "id", "name", "for", "usemap", "popover", "popovertarget", "tabindex", "accesskey", "autofocus"],
    ALLOW_DATA_ATTR: false,
    ALLOWED_URI_REGEXP: /^(?:https:|mailto:|\/(?!\/))/i,
    RETURN_DOM_FRAGMENT: true,
  });
  for (const link of fragment.querySelectorAll("a")) {
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
  }
  return fragment;
}
