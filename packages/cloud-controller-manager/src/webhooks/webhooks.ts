/** The webhooks of this program and their listener, which every replica has, leading or not. */
import type { Capabilities } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import {
  checkSecureServer,
  createWebhookPages,
  readClientAuthorities,
  selectControllers,
  startSecureServer,
  type ClientAuthorities,
  type ControllerName,
  type SecureServer,
  type SecureServerFiles,
  type Webhook,
} from '@outrigger/controller-manager';
import type { Clock, Logger } from '@outrigger/kube';
import { certificatePairOf } from '../serving/certificate-pair.ts';
import { PV_LABEL_WEBHOOK } from '../deploy/pv-label-webhook.ts';
import { SERVICE_WEBHOOK } from '../deploy/service-webhook.ts';
import type { Foundation } from '../program/foundation.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import { createPvLabelWebhook } from '../controllers/pv-label-controller.ts';
import { createServiceWebhook } from './service-webhook.ts';

interface WebhookContext {
  readonly providers: readonly OpenedProvider[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whoever calls has a certificate of the API server's. */
  readonly isTrusted: boolean;
  /** Ends what is asked of the clouds. */
  readonly signal: AbortSignal;
}

export interface KnownWebhook extends ControllerName {
  readonly uses: readonly (keyof Capabilities)[];
  readonly build: (context: WebhookContext) => Webhook;
}

const knownWebhooks: readonly KnownWebhook[] = [
  { name: PV_LABEL_WEBHOOK, uses: ['volumes'], build: createPvLabelWebhook },
  { name: SERVICE_WEBHOOK, uses: ['loadBalancers'], build: createServiceWebhook },
];

/** Upstream's name for the pair in `--webhook-cert-dir`. */
const NAME = 'cloud-controller-manager-webhook';
/** An API server opens one for each review whose answer it waits for, and asks about 200 changes at a time at most. */
const MOST_CONNECTIONS = 256;
/** By default an API server waits for 10 s, the answer included. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Those that are served with these options. Throws a `FlagError` for a name that is none. */
export function chosenWebhooks({
  debugging,
  gates,
  webhook,
}: Pick<ProgramOptions, 'debugging' | 'gates' | 'webhook'>): readonly KnownWebhook[] {
  const chosen = selectControllers(knownWebhooks, webhook.webhooks, { flag: '--webhooks', noun: 'webhook' });
  const isOn = gates.enabled('CloudControllerManagerWebhook') && webhook.webhookSecurePort !== 0;
  // A dry run changes nothing, not even what others are about to create.
  return isOn && !debugging.dryRun ? chosen : [];
}

/** Before anything is touched. Throws a `CertificateError` or an `AuthoritiesError` for files that cannot be used. */
export async function checkWebhooks(foundation: Foundation, chosen: readonly KnownWebhook[]): Promise<void> {
  if (chosen.length === 0) return;
  await checkSecureServer(listenerOf(foundation));
  await authoritiesOf(foundation, AbortSignal.abort());
}

/** `undefined` when none is to be served. Throws as `startSecureServer`. */
export async function serveWebhooks(
  foundation: Foundation,
  chosen: readonly KnownWebhook[],
  { providers, signal }: { readonly providers: readonly OpenedProvider[]; readonly signal: AbortSignal },
): Promise<SecureServer | undefined> {
  const { clock, logger, metrics, options, redactor } = foundation;
  const { webhook: flags } = options;
  if (chosen.length === 0) {
    const on = options.gates.enabled('CloudControllerManagerWebhook');
    if (on !== flags.webhooks.length > 0) {
      const needs = on ? '--webhooks' : '--feature-gates=CloudControllerManagerWebhook=true';
      logger.warn('No webhook is served', { needs });
    }
    return undefined;
  }
  const clientAuthorities = await authoritiesOf(foundation, signal);
  const isTrusted = clientAuthorities !== undefined;
  const server: SecureServer = await startSecureServer({
    ...listenerOf(foundation),
    clientAuthorities,
    forApiServers: true,
    app: createWebhookPages({
      webhooks: chosen.map(({ build }) => build({ providers, clock, logger, isTrusted, signal })),
      clock,
      logger,
      metrics,
      subsystem: 'cloud_provider_webhook',
      redact: (text) => redactor.redact(text),
      requireCertificate: isTrusted,
      certificateFor: (name) => server.certificateFor(name),
    }),
    mostConnections: MOST_CONNECTIONS,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
    logger,
    metrics,
    port: flags.webhookSecurePort,
  });
  logger.info('Serving webhooks', { url: server.url, webhooks: chosen.map(({ name }) => name) });
  return server;
}

/** Until `signal` aborts, they follow their file. */
function authoritiesOf(
  { clock, logger, metrics, options }: Foundation,
  signal: AbortSignal,
): Promise<ClientAuthorities | undefined> {
  const { webhookClientCaFile } = options.webhook;
  return readClientAuthorities({
    flag: '--webhook-client-ca-file',
    path: webhookClientCaFile,
    clock,
    logger,
    metrics,
    signal,
  });
}

function listenerOf({ clock, options }: Foundation): SecureServerFiles {
  const { webhook: flags } = options;
  const tls = certificatePairOf(
    { certFile: flags.webhookTlsCertFile, keyFile: flags.webhookTlsPrivateKeyFile, certDir: flags.webhookCertDir },
    NAME,
  );
  return {
    bindAddress: flags.webhookBindAddress,
    clock,
    flagPrefix: 'webhook-',
    named: flags.webhookTlsSniCertKey,
    settings: {
      minVersion: flags.webhookTlsMinVersion,
      cipherSuites: flags.webhookTlsCipherSuites,
      curvePreferences: flags.webhookTlsCurvePreferences,
    },
    ...(tls && { tls }),
  };
}
