/** What is written to golden/: what cloud-provider-aws v1.37.0 made of an account on moto, and of one on the fake. */
import { readFileSync } from 'node:fs';
import type { ServiceSpec } from '@outrigger/kube';
import type { AccountState } from './account-state.ts';
import type { CallCounts } from './counted-endpoint.ts';

export interface GoldenNode {
  readonly name: string;
  readonly zone: string;
  readonly providerID: string;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  /** Those that a cloud sets. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface GoldenService {
  readonly name: string;
  /** A part of the name of a load balancer; the hash in the name of a security group is of it, too. */
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: ServiceSpec;
  /** Of the account, while it is the only Service. */
  readonly made: AccountState;
  /** What it had asked for by then. */
  readonly calls: CallCounts;
  /** After the Service has gone; what differs from before it came was left behind. */
  readonly left: AccountState;
  readonly callsToRemove: CallCounts;
}

export interface Golden {
  readonly cloud: 'moto' | 'fake';
  /** Lines of `[Global]` beside the network's. */
  readonly config: readonly string[];
  readonly nodes: readonly GoldenNode[];
  readonly before: AccountState;
  readonly callsOfNodes: CallCounts;
  readonly services: readonly GoldenService[];
}

export const GOLDEN_FILE: URL = new URL('golden/cloud-provider-aws.json', import.meta.url);

/** As they were recorded last. */
export function goldens(): readonly Golden[] {
  return JSON.parse(readFileSync(GOLDEN_FILE, 'utf8')) as readonly Golden[];
}
