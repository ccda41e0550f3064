/** The feature gates of upstream's cloud-controller-manager v0.37.1, and which of them mean something here. */
import { readFeatureGates, type FeatureGate, type FeatureGates } from '@outrigger/controller-manager';

function ofServer(stage: FeatureGate['stage'], enabled: boolean): FeatureGate {
  return { stage, default: enabled, hasEffect: false };
}

/** Most come from the API server's library, which upstream's program links and hardly uses. */
export const featureGates: Readonly<Record<string, FeatureGate>> = {
  APIResponseCompression: ofServer('beta', true),
  APIServerIdentity: ofServer('beta', true),
  APIServerWebhookAuthenticationToken: ofServer('alpha', false),
  APIServingWithRoutine: ofServer('alpha', false),
  AllowParsingUserUIDFromCertAuth: ofServer('beta', true),
  AllowUnsafeMalformedObjectDeletion: ofServer('beta', true),
  CBORServingAndStorage: ofServer('alpha', false),
  CloudControllerManagerWatchBasedRoutesReconciliation: ofServer('alpha', false),
  CloudControllerManagerWebhook: { stage: 'alpha', default: false },
  ComponentFlagz: { stage: 'beta', default: true },
  ComponentStatusz: { stage: 'beta', default: true },
  ConcurrentWatchObjectDecode: ofServer('beta', true),
  ConsistentListFromCacheSkipTimeoutFallback: ofServer('alpha', false),
  ConstrainedImpersonation: ofServer('beta', true),
  ContextualLogging: ofServer('beta', true),
  ControllerManagerReleaseLeaderElectionLockOnExit: ofServer('alpha', false),
  CoordinatedLeaderElection: ofServer('beta', false),
  DeclarativeValidationBeta: ofServer('beta', true),
  DetectCacheInconsistency: ofServer('beta', true),
  EtcdRangeStream: ofServer('beta', true),
  ExcludeAdmissionWebhookVirtualResources: ofServer('beta', true),
  ListFromCacheSnapshot: ofServer('beta', true),
  LoggingAlphaOptions: ofServer('alpha', false),
  LoggingBetaOptions: ofServer('beta', true),
  ManifestBasedAdmissionControlConfig: ofServer('beta', true),
  NativeHistograms: ofServer('beta', true),
  OpenAPIEnums: ofServer('beta', true),
  RemoteRequestHeaderUID: { stage: 'beta', default: true },
  ShardedListAndWatch: ofServer('alpha', false),
  SizeBasedListCostEstimate: ofServer('beta', true),
  StorageVersionAPI: ofServer('alpha', false),
  StorageVersionHash: ofServer('beta', true),
  StructuredAuthenticationConfigurationEgressSelector: ofServer('beta', true),
  StructuredAuthenticationConfigurationJWKSMetrics: ofServer('beta', true),
  TokenRequestServiceAccountUIDValidation: ofServer('beta', true),
  UnauthenticatedHTTP2DOSMitigation: ofServer('beta', true),
  UnknownVersionInteroperabilityProxy: ofServer('beta', true),
  WatchList: ofServer('beta', true),
  WatchListCompression: ofServer('beta', true),
  WebhookRoundTripLoadBalancing: ofServer('beta', true),
};

/** Throws a `FlagError` for an unknown gate. */
export function readGates(set: Readonly<Record<string, boolean>>): FeatureGates {
  return readFeatureGates(featureGates, set);
}
