import type { InstanceResult, NodeRef } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';

/** What the cloud knows of the machines of nodes. */
export interface Machines {
  /** Its last answer, whoever has asked. `undefined`: there is none. */
  known(node: Node): InstanceResult | undefined;
  /** Asks together with what else is asked in this moment. Rejects when `signal` aborts. */
  lookUp(node: NodeRef, signal: AbortSignal): Promise<InstanceResult>;
  /** Asks about this machine alone: only that proves that there is none. Rejects when `signal` aborts. */
  read(node: NodeRef, signal: AbortSignal): Promise<InstanceResult>;
}
