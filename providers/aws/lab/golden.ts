/** What is written to golden/: what cloud-provider-aws v1.37.0 made of an account on moto. */
import { readFileSync } from 'node:fs';
import type { CallCounts } from './counted-endpoint.ts';
import type { EndState } from './end-state.ts';

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
  readonly annotations: Readonly<Record<string, string>>;
  readonly spec: object;
  /** Of the account, while it is the only Service. */
  readonly made: EndState;
  /** What it had asked for by then. */
  readonly calls: CallCounts;
  /** After the Service has gone; what differs from before it came was left behind. */
  readonly left: EndState;
  readonly callsToRemove: CallCounts;
}

export interface Golden {
  readonly cloud: 'moto' | 'fake';
  /** Lines of `[Global]` beside the network's. */
  readonly config: readonly string[];
  readonly nodes: readonly GoldenNode[];
  readonly before: EndState;
  readonly callsOfNodes: CallCounts;
  readonly services: readonly GoldenService[];
}

export const GOLDEN_FILE: URL = new URL('golden/cloud-provider-aws.json', import.meta.url);

/** As they were recorded last. */
export function goldens(): readonly Golden[] {
  return JSON.parse(readFileSync(GOLDEN_FILE, 'utf8')) as readonly Golden[];
}
