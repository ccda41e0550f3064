/** Which machine a node stands for. Pure. */
import { CloudError, type NodeRef } from '@outrigger/cloud-provider';
import { biosUuid, eitherOrder, uuidOf } from './bios-uuid.ts';
import { referenceIn, referenceText, type MachineReference } from './reference.ts';

export type AskedMachine =
  /** By its BIOS UUID, in either byte order. `isByID`: of the provider ID, which alone proves absence. `references`: where it was seen. */
  | {
      readonly by: 'uuid';
      readonly uuids: readonly string[];
      readonly isByID: boolean;
      readonly references: readonly MachineReference[];
    }
  /** By the host name of the guest: a hint, of a node that has neither ID nor UUID. */
  | { readonly by: 'name'; readonly name: string }
  /** Another provider's. */
  | { readonly by: 'nothing' }
  | { readonly by: 'error'; readonly error: CloudError };

/** `remembered`: the reference under which the process has seen the machine of this UUID. */
export function askedMachine(
  node: NodeRef,
  providerName: string,
  remembered: (uuids: readonly string[]) => readonly MachineReference[],
): AskedMachine {
  const { name, providerID, systemUUID } = node;
  if (providerID) {
    if (!providerID.startsWith(`${providerName}://`)) return { by: 'nothing' };
    const uuid = uuidOf(providerID, providerName);
    if (uuid === undefined) {
      const message = `node ${name}: the provider ID ${providerID} is not ${providerName}://<BIOS UUID>`;
      return { by: 'error', error: new CloudError('invalid', message) };
    }
    return byUuid(uuid, true);
  }
  const reported = biosUuid(systemUUID);
  return reported === undefined ? { by: 'name', name } : byUuid(reported, false);

  function byUuid(uuid: string, isByID: boolean): AskedMachine {
    const uuids = eitherOrder(uuid);
    const noted = referenceIn(node);
    const seen = isByID ? [...(noted ? [noted] : []), ...remembered(uuids)] : [];
    const references = new Map(seen.map((one) => [referenceText(one), one]));
    return { by: 'uuid', uuids, isByID, references: [...references.values()] };
  }
}
