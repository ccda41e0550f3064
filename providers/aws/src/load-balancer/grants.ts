/** What the administrator of the account has set aside for Services: by a tag on the subnet, security group or Elastic IP itself. */

/** `shop web`, or `*`. */
export const GRANT_TAG = 'outrigger.dev/namespaces';

interface Tag {
  readonly Key?: string;
  readonly Value?: string;
}

/** Namespaces; `*` stands for all. */
export function grantedIn(tags: readonly Tag[] | undefined): readonly string[] {
  const value = tags?.find(({ Key }) => Key === GRANT_TAG)?.Value ?? '';
  return value.split(/[\s,]/u).filter((one) => one !== '');
}
