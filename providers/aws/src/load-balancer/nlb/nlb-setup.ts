/** What the kinds of a Network Load Balancer share. */
import {
  CloudError,
  isCloudError,
  type DesiredLoadBalancer,
  type LoadBalancerService,
} from '@outrigger/cloud-provider';
import type { Attributes, PartRequest, ThereParts } from '@outrigger/provider-kit';
import type { ServiceSettings } from '../annotations/service-settings.ts';
import type { Served } from '../clb/switch-over.ts';
import { CLASSIC, type KindSetup } from '../frame.ts';
import type { SettingsMemory } from '../observe/settings-memory.ts';
import { isPredecessors, tagsFor, type Tags } from '../ownership.ts';
import type { TargetMemory } from './target-memory.ts';

export interface NlbSetup extends KindSetup {
  readonly settings: SettingsMemory;
  readonly targets: TargetMemory;
}

/**
 * What the Service gets where it asks for a Network Load Balancer. Where it asks for a Classic one: nothing, once that one serves; the
 * old one serves until then (`undefined`).
 */
export function wantedOf<Wanted>(
  { settingsOf }: Pick<KindSetup, 'settingsOf'>,
  desired: DesiredLoadBalancer,
  there: ThereParts,
  wanted: (settings: ServiceSettings) => readonly Wanted[] | undefined,
): readonly Wanted[] | undefined {
  const settings = settingsOf(desired);
  if (settings.type === 'nlb') return wanted(settings);
  const classic = there(CLASSIC);
  return classic && isServed(classic.attributes) ? [] : undefined;
}

/** Of a Classic one: whether the Service has a load balancer that serves, or never had another. Throws a `CloudError` where AWS did not tell. */
export function isServed({ isServed: served }: Attributes): boolean {
  if (typeof served !== 'object') return served !== false;
  const { code, message } = served as Exclude<Served, boolean | undefined>;
  throw new CloudError(code, `whether the new load balancer serves is not known, so the old one stays: ${message}`);
}

export function tagsOfRequest(setup: KindSetup, { desired, owner }: PartRequest): Tags {
  const { tags: additional } = setup.settingsOf(desired);
  return tagsFor({ owner, service: desired.service, clusterTags: setup.facts().clusterTags, additional });
}

/** By its tags, which are an attribute of each part. Where the cluster's are not known, nobody's things are left alone. */
export function isMadeByPredecessor(
  { facts }: Pick<KindSetup, 'facts'>,
  attributes: Readonly<Record<string, unknown>>,
  service: LoadBalancerService,
): boolean {
  try {
    const { clusterTags, vpcId } = facts();
    // A cluster of the same name, in another VPC of the account, may have a Service of the same name.
    const isHere = (attributes['vpcId'] ?? vpcId) === vpcId;
    return isHere && isPredecessors(attributes['tags'] as Tags, service, clusterTags);
  } catch (error) {
    if (!isCloudError(error)) throw error;
    return false;
  }
}

/** Of a Network Load Balancer that is there: it was made without any security group, and AWS gives it none later. */
export function hasNoGroups(present: Attributes | undefined): boolean {
  const groups = present?.['securityGroups'];
  return Array.isArray(groups) && groups.length === 0;
}

/** A "not found" about what was just made proves nothing: ELBv2 is eventually consistent. */
export async function readSurely<Thing>(
  id: string,
  isYoung: boolean,
  read: () => Promise<readonly Thing[] | undefined>,
): Promise<Thing> {
  let found: Thing | undefined;
  try {
    [found] = (await read()) ?? [];
  } catch (error) {
    if (isYoung && isCloudError(error, 'not-found')) throw notYet(id, error);
    throw error;
  }
  if (found !== undefined) return found;
  throw new CloudError('unavailable', `${id}: AWS answered without it, and without an error`);
}

function notYet(id: string, cause: Error): CloudError {
  const message = `${id} is not found, but it may have been made too short a time ago to be known everywhere`;
  return new CloudError('retry-after', message, { retryAfterMs: 30_000, cause });
}

/** What AWS answers a creation with. */
export function made<Thing>(operation: string, things: readonly Thing[] | undefined): Thing {
  const [thing] = things ?? [];
  if (thing === undefined) throw new CloudError('unavailable', `${operation}: AWS answered without what it has made`);
  return thing;
}

/** Of what is wanted: all ports of a Service ask for the same targets. */
const asSets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Of thousands of targets, port by port: most are equal as they are, or differ at once. */
export function sameSet(there: unknown, wanted: unknown): boolean {
  if (!Array.isArray(there) || !Array.isArray(wanted)) return false;
  if (there.length === wanted.length && there.every((one, i) => one === wanted[i])) return true;
  const all = asSets.get(wanted) ?? new Set<unknown>(wanted);
  asSets.set(wanted, all);
  return there.length >= all.size && there.every((one) => all.has(one)) && new Set(there).size === all.size;
}
