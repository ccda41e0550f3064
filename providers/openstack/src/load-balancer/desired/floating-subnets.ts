/**
 * Which subnets of the floating network a Service may get its address from. Patterns are CPO's, and so is what they mean
 * (its `loadbalancer_subnet_match_test.go`): a glob, or after `~` a regular expression in Go's syntax; `!` turns it around.
 */
import type { FloatingSubnets } from './desired-tree.ts';
import { compilePattern } from './linear-pattern.ts';

/** What is looked at of a Neutron subnet. */
interface NamedSubnet {
  readonly id: string;
  readonly name: string;
  readonly tags: readonly string[];
}

/** Those that match, in the order given: the first in which an address is free is taken. */
export function matchFloatingSubnets<Subnet extends NamedSubnet>(
  wish: FloatingSubnets,
  subnets: readonly Subnet[],
): readonly Subnet[] {
  if (wish.subnetId !== undefined) return subnets.filter(({ id }) => id === wish.subnetId);
  const nameMatches = wish.name ? subnetNamePattern(wish.name) : () => true;
  const tagsMatch = wish.tags ? subnetTagsPattern(wish.tags) : () => true;
  return subnets.filter(({ name, tags }) => nameMatches(name) && tagsMatch(tags));
}

/**
 * `public-*`, `pool-[12]`, `{a,b}-net`, `~^pool-\d+$`, `!internal*`. Throws `invalid` with what is wrong. Linear in time and bounded
 * in size: the pattern is written by whoever may write a Service (docs/adr/0017, docs/adr/0026).
 */
export function subnetNamePattern(pattern: string): (name: string) => boolean {
  const negated = pattern.startsWith('!');
  const positive = negated ? pattern.slice(1) : pattern;
  const firstMatch = positive.startsWith('~')
    ? compilePattern(positive.slice(1))
    : compilePattern(positive, globExpression);
  // The first match has to be the whole name, which is not the same as an anchored expression: `a|ab` does not match `ab`.
  return (name) => (firstMatch(name) === name) !== negated;
}

/**
 * `alice,bob`: one of them at least; `&alice,bob`: all; `!` before either: the opposite. CPO asks Neutron for it with `not-tags`
 * and `not-tags-any` exchanged, so that two tags after `!` mean something else there than its documentation and tests say.
 */
function subnetTagsPattern(pattern: string): (tags: readonly string[]) => boolean {
  const negated = pattern.startsWith('!');
  const positive = negated ? pattern.slice(1) : pattern;
  const all = positive.startsWith('&');
  const wanted = (all ? positive.slice(1) : positive).split(/[\s,]+/).filter(Boolean);
  return (tags) => {
    const isThere = (tag: string): boolean => tags.includes(tag);
    return (all ? wanted.every(isThere) : wanted.some(isThere)) !== negated;
  };
}

/** `*` and `?` stop at a slash; `[…]` is a class without negation; `{a,b}` are alternatives, and `{{` is a brace. */
function globExpression(glob: string): string {
  let inGroup = false;
  const translated = glob.replace(/\{\{|[\\^$.+()=!|*?{},]/g, (token) => {
    if (token === '*') return '[^/]*';
    if (token === '?') return '.';
    if (token === '{') {
      inGroup = true;
      return '(?:';
    }
    if (token === '}' && inGroup) {
      inGroup = false;
      return ')';
    }
    if (token === ',') return inGroup ? '|' : ',';
    return token === '{{' ? '\\{' : `\\${token}`;
  });
  return `^${translated}$`;
}
