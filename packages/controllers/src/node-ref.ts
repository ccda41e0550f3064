/** A node, as a provider is told of it. */
import type { NodeRef } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';

export function refOfNode(node: Node): NodeRef {
  const { name = '', uid = '', labels = {}, annotations = {} } = node.metadata ?? {};
  return { name, uid, labels, annotations, ...(node.spec?.providerID && { providerID: node.spec.providerID }) };
}
