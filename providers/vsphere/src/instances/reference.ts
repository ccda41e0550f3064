/**
 * Where a node's machine was last seen: the vCenter and the managed object. Kept in an annotation of the node, so that it outlives the
 * process: of a machine that may not be read any more, or of which vCenter has lost the configuration, nothing else says that it is still there.
 */
import type { NodeRef } from '@outrigger/cloud-provider';

export const REFERENCE_ANNOTATION = 'vsphere.outrigger.dev/machine';

export interface MachineReference {
  /** `about.instanceUuid`. */
  readonly vcenter: string;
  /** Managed object reference: `vm-42`. */
  readonly reference: string;
  /** Only the node's annotation has it, which its kubelet may write: where to look, and no word of which machine is the node's. */
  readonly isNoted?: true;
}

/** `<vCenter>/<managed object>`. */
export function referenceText({ reference, vcenter }: MachineReference): string {
  return `${vcenter}/${reference}`;
}

const FORM = /^([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})\/([\w.:-]{1,80})$/i;

/** `undefined` for a node that has none, and for what is none. */
export function referenceIn({ annotations }: Pick<NodeRef, 'annotations'>): MachineReference | undefined {
  const [, vcenter, reference] = FORM.exec(annotations[REFERENCE_ANNOTATION] ?? '') ?? [];
  return vcenter !== undefined && reference !== undefined
    ? { vcenter: vcenter.toLowerCase(), reference, isNoted: true }
    : undefined;
}
