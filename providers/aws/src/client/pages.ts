/** Lists in pages, as EC2 (`NextToken`) and both ELB APIs (`Marker`, `NextMarker`) have them. */
import type { CallContext } from '@outrigger/cloud-provider';
import { ListBound } from '@outrigger/provider-kit';
import type { ServiceClient } from './aws-client.ts';

/** The answer's only member that is a list: `Reservations` of `DescribeInstances`. */
type ItemOf<Output> =
  NonNullable<Output[keyof Output]> extends infer Member
    ? Member extends readonly (infer Item)[]
      ? Item
      : never
    : never;

interface Page {
  readonly NextToken?: string;
  readonly NextMarker?: string;
}

/**
 * The items of all pages, or a rejection: never a part. For operations whose answer has one list:
 * `pages(client.ec2, call, 'DescribeInstances', { Filters, MaxResults: 1000 })` resolves to reservations.
 */
export async function pages<Operations extends object, Name extends keyof Operations & string>(
  service: ServiceClient<Operations>,
  call: CallContext,
  operation: Name,
  input: Operations[Name] extends { readonly input: infer Input } ? Input : never,
): Promise<readonly ItemOf<Operations[Name] extends { readonly output: infer Output } ? Output : never>[]> {
  type Output = Operations[Name] extends { readonly output: infer Inner } ? Inner : never;
  const items: ItemOf<Output>[] = [];
  using bound = new ListBound(`AWS: ${operation}`);
  let next: object = {};
  for (;;) {
    const page = (await service(call, operation, { ...(input as object), ...next } as typeof input)) as Output & Page;
    const found = Object.values(page).flatMap((member) => (Array.isArray(member) ? (member as ItemOf<Output>[]) : []));
    items.push(...found);
    const { NextMarker, NextToken } = page;
    const token = NextToken ?? NextMarker ?? '';
    if (token === '') return items;
    bound.next(token, found.length);
    next = NextToken === undefined ? { Marker: token } : { NextToken: token };
  }
}

export function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}
