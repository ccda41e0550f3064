/** A node, as a provider is told of it. */
import { PROVIDER_ID_LENGTH, type NodeRef } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { boundedAnnotations } from './bounded-annotations.ts';

export function refOfNode(node: Node): NodeRef {
  const { name = '', uid = '', labels = {}, annotations } = node.metadata ?? {};
  const providerID = node.spec?.providerID?.slice(0, PROVIDER_ID_LENGTH);
  return { name, uid, labels, annotations: boundedAnnotations(annotations), ...(providerID && { providerID }) };
}
