/** Attributes of a target group: what a Service asks for, and what AWS gives to one of its protocol. Pure. */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotationRows } from '../annotations/annotation-rows.ts';
import { keyValuesOf } from '../annotations/key-values.ts';
import { targetGroupAttributesOf } from '../annotations/target-group-attributes.ts';
import type { Settings } from '../observe/settings-memory.ts';

const TERMINATION = 'deregistration_delay.connection_termination.enabled';
const OF_TCP = targetGroupAttributesOf({ ports: [] }, undefined);
const STICKY = Object.keys(OF_TCP).filter((key) => key.startsWith('stickiness.'));

/** What a new one of this protocol has. TLS knows no stickiness, and flows of UDP end with their target. */
export function usualSettings(protocol: string): Settings {
  if (protocol === 'UDP' || protocol === 'TCP_UDP') return { ...OF_TCP, [TERMINATION]: 'true' };
  if (protocol !== 'TLS') return OF_TCP;
  return Object.fromEntries(Object.entries(OF_TCP).filter(([key]) => !STICKY.includes(key)));
}

/** What the annotation says, which was checked before, over what is usual. */
export function settingsFor(protocol: string, { annotations }: Pick<LoadBalancerService, 'annotations'>): Settings {
  return {
    ...usualSettings(protocol),
    ...Object.fromEntries(keyValuesOf(annotations[annotationRows.targetGroupAttributes.name])),
  };
}
