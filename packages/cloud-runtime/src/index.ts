/** The host's side of the cloud-provider contract. See ../README.md. */

// From `--cloud-provider` to a provider in use
export { loadProvider, type LoadProviderOptions } from './load-provider.ts';
export { checkConfig } from './check-config.ts';
export { openProvider, type OpenedProvider, type OpenProviderOptions } from './open-provider.ts';

// Several providers
export { openProviderLate, type LateProvider, type LateProviderOptions } from './late-provider.ts';
export { joinProviders, type JoinOptions } from './join-providers.ts';
export { LoadBalancerClasses } from './load-balancer-classes.ts';

// Look-ups
export {
  createInstanceLookups,
  type InstanceLookups,
  type InstanceLookupsOptions,
  type LookUpOptions,
  type ReadOptions,
} from './instance-lookups.ts';
export type { MakeCallContext } from './make-call-context.ts';
export { createVolumeLookUps, type VolumeLookUps, type VolumeLookUpsOptions } from './volume-look-ups.ts';
export type { HintedMachines, InstanceHints } from './instance-hints.ts';
export type { AnswerListener, InstanceSnapshot } from './instance-snapshot.ts';

// What a provider need not say
export { batchSizeOf, hasItsMembers, isComplete, summaryOf, type DatedAnswer } from './answer-defaults.ts';
export { retryAfterMsOf } from './retry-after.ts';

/** Calls of the contract that nothing else here makes. */
export { callInTime, type CallDeadline } from './call-in-time.ts';

// The call budget
export type { CallBudgetOptions } from './call-budget.ts';
export type { BucketLimits } from './rate-bucket.ts';
export { CLOUD_CALL_CHANNEL, type CloudCallTrace, type EndedRequest, type RequestLeadership } from './cloud-caller.ts';
export type { CallRecord } from './call-log.ts';
