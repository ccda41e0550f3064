/** The BIOS UUID of a machine, by which its node knows it: the provider ID, and what a kubelet reports as `systemUUID`. */
import { formatProviderID, parseProviderID } from '@outrigger/cloud-provider';

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** In lower case, as vCenter finds it; `undefined` for what is no UUID. */
export function biosUuid(text: string | undefined): string | undefined {
  const uuid = text?.trim().toLowerCase();
  return uuid !== undefined && UUID.test(uuid) ? uuid : undefined;
}

/**
 * With the bytes of the first three groups turned round: older guests read them as little-endian numbers, and newer ones as vCenter does.
 * Upstream: `ConvertK8sUUIDtoNormal`.
 */
export function swapped(uuid: string): string {
  const turned = (hex: string): string => (hex.match(/../g) ?? []).toReversed().join('');
  const [first = '', second = '', third = '', ...rest] = uuid.split('-');
  return [turned(first), turned(second), turned(third), ...rest].join('-');
}

/** Both forms of it, the one that was given first. */
export function eitherOrder(uuid: string): readonly string[] {
  const other = swapped(uuid);
  return other === uuid ? [uuid] : [uuid, other];
}

/** `vsphere://<BIOS UUID>`. */
export function providerIDOf(uuid: string, name: string): string {
  return formatProviderID(name, uuid);
}

/** The UUID in a provider ID; `undefined` for another provider's ID, and for one of ours that is broken. */
export function uuidOf(providerID: string | undefined, name: string): string | undefined {
  return biosUuid(parseProviderID(providerID, name));
}
