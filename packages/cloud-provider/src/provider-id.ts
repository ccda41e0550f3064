/** Provider IDs: `<provider name>://<what the provider likes>`. Immutable once on a node: choose what never changes. */
import { CloudError } from './errors.ts';

/** `formatProviderID('acme', 'eu-1/i-7')` is `acme://eu-1/i-7`. Throws `invalid` for an empty rest: an ID that a cloud did not give must not end up on a node. */
export function formatProviderID(name: string, rest: string): string {
  if (typeof rest !== 'string' || rest === '') {
    throw new CloudError('invalid', `provider ID of ${name}: the cloud returned a machine without an ID`);
  }
  return `${name}://${rest}`;
}

/** What stands after `<name>://`; `undefined` without an ID, for another provider's, and for one of nothing but the prefix. */
export function parseProviderID(providerID: string | undefined, name: string): string | undefined {
  const prefix = `${name}://`;
  return providerID?.startsWith(prefix) ? providerID.slice(prefix.length) || undefined : undefined;
}
