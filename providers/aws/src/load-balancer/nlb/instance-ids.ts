/** Of the machines that are targets. */
import type { BackEnd } from '@outrigger/cloud-provider';

/** Fargate's have none, and are no targets. One that is too long for an ID may make AWS refuse a request without naming it. */
export function instanceIdsOf(backEnds: readonly BackEnd[]): readonly string[] {
  const ids = backEnds.map(({ node }) => node.providerID?.split('/').at(-1) ?? '');
  return [...new Set(ids)].filter((id) => /^i-[0-9a-f]{1,17}$/u.test(id)).toSorted();
}
