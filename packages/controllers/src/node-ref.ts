/** A node, as a provider is told of it. */
import { NAME_LENGTH, PROVIDER_ID_LENGTH, type NodeRef } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { boundedAnnotations } from './bounded-annotations.ts';

export function refOfNode(node: Node): NodeRef {
  const { name = '', uid = '', labels = {}, annotations, creationTimestamp = '' } = node.metadata ?? {};
  const providerID = node.spec?.providerID?.slice(0, PROVIDER_ID_LENGTH);
  const systemUUID = node.status?.nodeInfo?.systemUUID.slice(0, NAME_LENGTH);
  const createdAt = Date.parse(creationTimestamp);
  return {
    name,
    uid,
    labels,
    annotations: boundedAnnotations(annotations),
    ...(providerID && { providerID }),
    ...(systemUUID && { systemUUID }),
    ...(Number.isFinite(createdAt) && { createdAt }),
  };
}
