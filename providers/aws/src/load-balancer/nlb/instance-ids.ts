/** Of the machines that are targets. */
import type { BackEnd } from '@outrigger/cloud-provider';

/** Fargate's have none, and are no targets. */
export function instanceIdsOf(backEnds: readonly BackEnd[]): readonly string[] {
  const ids = backEnds.map(({ node }) => node.providerID?.split('/').at(-1) ?? '');
  return [...new Set(ids)].filter((id) => /^i-[0-9a-f]+$/u.test(id)).toSorted();
}
