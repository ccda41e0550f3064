/**
 * Every path that a text of a tenant, a node or a cloud takes: each target takes any text and has to end in a time that grows as
 * the text does. What it throws is of no account, as long as it throws an `Error`.
 */
import { apiServerTargets } from './api-server-targets.ts';
import { cloudTargets } from './cloud-targets.ts';
import { configTargets } from './config-targets.ts';
import { logTargets } from './log-targets.ts';
import { networkTargets } from './network-targets.ts';
import { nodeTargets } from './node-targets.ts';
import { openStackTargets } from './openstack-targets.ts';
import { providerKitTargets } from './provider-kit-targets.ts';
import { serviceTargets } from './service-targets.ts';
import { statusTargets } from './status-targets.ts';
import type { Target } from './target.ts';

export const targets: readonly Target[] = [
  ...logTargets,
  ...serviceTargets,
  ...nodeTargets,
  ...networkTargets,
  ...apiServerTargets,
  ...statusTargets,
  ...configTargets,
  ...openStackTargets,
  ...providerKitTargets,
  ...cloudTargets,
];
