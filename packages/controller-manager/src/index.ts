/** A controller manager's generic parts: flags, logs, metrics, serving, lifecycle. Knows nothing of clouds. See ../README.md. */

// Flags
export { closestName } from './flags/closest-name.ts';
export { readFeatureGates, type FeatureGate, type FeatureGates } from './flags/feature-gates.ts';
export { FlagError } from './flags/flag-error.ts';
export { readFlagFile } from './flags/flag-file.ts';
export { flagNameOf, type Flag, type FlagGroup } from './flags/flag-group.ts';
export { renderHelp, type HelpOptions } from './flags/flag-help.ts';
export { renderFlagPage } from './flags/flag-page.ts';
export { FlagSet, type FlagPreset, type ParsedFlags } from './flags/flag-set.ts';
export {
  bool,
  boolMap,
  duration,
  float,
  integer,
  integers,
  ip,
  oneOf,
  port,
  quantity,
  string,
  strings,
} from './flags/flag-type.ts';
export type { FlagType } from './flags/flag-type.ts';
export { listFlagValues } from './flags/flag-values.ts';
export { formatGoDuration, parseGoDuration } from './flags/go-duration.ts';
export { parseYamlFile, type YamlFile } from './flags/yaml-file.ts';

// Logs
export { createLogging, fileDescriptorDestination } from './logs/logging.ts';
export type { LogDestination, Logging, LoggingOptions } from './logs/logging.ts';
export { logFlags, type LogOptions } from './logs/log-flags.ts';
export { codeOf, describeError } from './logs/log-value.ts';
export { onceAMinute } from './logs/once-a-minute.ts';
export { Redactor } from './logs/redactor.ts';
export type { VmodulePattern } from './logs/verbosity.ts';

// Metrics
export { PrometheusMetrics } from './metrics/prometheus-metrics.ts';

// Access
export { createAccessPolicy, isLoopback } from './access/access-policy.ts';
export type { AccessDecision, AccessPolicy, AccessPolicyOptions } from './access/access-policy.ts';
export { readClientAuthorities, type AuthoritiesFile } from './access/authorities-file.ts';
export { AuthoritiesError } from './access/certificate-authorities.ts';
export { ClusterTrustError } from './access/cluster-trust.ts';
export { delegateAccess, type DelegatedAccess, type DelegatedAccessOptions } from './access/delegated-access.ts';
export { authenticationFlags, authorizationFlags } from './access/delegation-flags.ts';
export type { AuthenticationOptions, AuthorizationOptions } from './access/delegation-flags.ts';
export type { Authorize } from './access/subject-access.ts';
export type { AccessRequest, Authenticate, User } from './access/user.ts';

// Reload
export { reloadFiles, type ReloadFilesOptions } from './reload/reload-files.ts';

// Serving
export { CertificateError } from './serving/certificate-files.ts';
export { renderFlagz, renderStatusz, type Status } from './serving/debug-pages.ts';
export { HealthChecks } from './serving/health-checks.ts';
export type { HealthCheck, HealthEndpoint, HealthKind, HealthReport } from './serving/health-checks.ts';
export type { HttpAnswer, HttpApp, HttpRequest } from './serving/http-app.ts';
export { createPages, type Page, type PageAnswer, type PagesOptions } from './serving/pages.ts';
export { checkSecureServer, ListenError, startSecureServer } from './serving/secure-server.ts';
export type {
  CertificatePair,
  ClientAuthorities,
  SecureServer,
  SecureServerFiles,
  SecureServerOptions,
} from './serving/secure-server.ts';
export { cipherSuites, curvePreferences, namedCertKey, servingFlags, tlsVersion } from './serving/serving-flags.ts';
export type { NamedCertKey, ServingOptions } from './serving/serving-flags.ts';
export type { TlsVersion } from './serving/tls-settings.ts';

// Webhooks
export type { AdmissionAnswer, AdmissionRequest } from './webhook/admission-review.ts';
export {
  createWebhookPages,
  SERVING_CERTIFICATE_PATH,
  type Webhook,
  type WebhookPagesOptions,
} from './webhook/webhook-pages.ts';

// Leader migration
export { controllerLocks, type ControllerLock } from './leader-migration/controller-locks.ts';
export { HeldTerms } from './leader-migration/held-terms.ts';
export { defaultMigrationConfig, readMigrationConfig } from './leader-migration/migration-config.ts';
export type { ControllerLeader, LeaderMigrationConfig } from './leader-migration/migration-config.ts';

// Lifecycle
export { selectControllers, type ControllerName } from './lifecycle/controller-selection.ts';
export { exitCodeOf, runControllerManager } from './lifecycle/run-controller-manager.ts';
export type {
  ControllerManagerOptions,
  LeadershipTerm,
  LeaderWork,
  LockedWork,
  ManagerEnd,
  RunningController,
} from './lifecycle/run-controller-manager.ts';
export { watchStopSignals, type SignalSource, type StopSignals } from './lifecycle/stop-signals.ts';
