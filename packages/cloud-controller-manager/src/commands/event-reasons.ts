/** By which commands know from its Events what became of a Service. Other cloud-controller-managers have the same reasons. */
import { removeReasons, serveReasons } from '@outrigger/controllers';

/** Of the Events that end a try to bring a load balancer to what its Service asks for, or to take it away. */
export const loadBalancerReasons: { readonly done: ReadonlySet<string>; readonly failed: ReadonlySet<string> } = {
  done: new Set([...serveReasons.done, removeReasons.done]),
  failed: new Set([...serveReasons.failed, removeReasons.failed]),
};
