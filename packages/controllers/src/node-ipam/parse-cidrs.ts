/** Ranges of nodes and of the cloud, of which what is no CIDR is left out. Pure. */
import { parseCidr, type Cidr } from '@outrigger/cloud-provider';

export function parseCidrs(texts: readonly string[]): readonly Cidr[] {
  return texts.map(parseCidr).filter((cidr) => cidr !== undefined);
}
