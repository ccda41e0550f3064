/** Whose node it is, by its provider ID. */

/** `none`: not yet known. `opaque`: an ID without `<name>://`, which may be anybody's. */
export type ProviderIdOwner = 'none' | 'ours' | 'foreign' | 'opaque';

/** Reads the prefix of a provider ID (`aws` in `aws:///eu-1a/i-1`). */
export function ownerOf(providerID: string | undefined, providerName: string): ProviderIdOwner {
  if (!providerID) return 'none';
  const scheme = /^([^:/]+):\/\//.exec(providerID)?.[1];
  if (scheme === undefined) return 'opaque';
  return scheme === providerName ? 'ours' : 'foreign';
}
