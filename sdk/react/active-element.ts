/** The focused element in the tree that a node is in: seen from outside of a shadow tree, its host has the focus. */
export function activeElementFor(node: Node): Element | null {
  const tree = node.getRootNode();
  return tree instanceof Document || tree instanceof ShadowRoot ? tree.activeElement : null;
}
