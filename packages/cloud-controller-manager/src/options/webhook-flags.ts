/** The flags of the webhook server, which is behind the gate CloudControllerManagerWebhook. */
import {
  bool,
  cipherSuites,
  curvePreferences,
  FlagError,
  ip,
  namedCertKey,
  port,
  string,
  strings,
  tlsVersion,
  type FlagGroup,
  type NamedCertKey,
  type TlsVersion,
} from '@outrigger/controller-manager';

export interface WebhookOptions {
  webhooks: readonly string[];
  webhookBindAddress: string;
  webhookSecurePort: number;
  webhookCertDir: string;
  webhookTlsCertFile: string;
  webhookTlsPrivateKeyFile: string;
  webhookTlsSniCertKey: readonly NamedCertKey[];
  webhookClientCaFile: string;
  webhookTlsMinVersion: TlsVersion | '';
  webhookTlsCipherSuites: readonly string[];
  webhookTlsCurvePreferences: readonly number[];
  webhookDisableHttp2Serving: boolean;
}

export const webhookFlags: FlagGroup<WebhookOptions> = {
  title: 'Webhook',
  flags: {
    webhooks: {
      type: strings,
      default: [],
      usage:
        'Webhooks to serve: pvlabel, service, or * for all; -pvlabel leaves it out. Empty: none. Needs --feature-gates=CloudControllerManagerWebhook=true.',
    },
    webhookBindAddress: {
      type: ip,
      default: '0.0.0.0',
      usage: 'The IP address to serve webhooks on: 0.0.0.0 or :: for all interfaces.',
    },
    webhookSecurePort: {
      type: port,
      default: 10_260,
      usage: 'The port for webhooks, over TLS. 0: serve none.',
    },
    webhookCertDir: {
      type: string,
      default: '',
      usage:
        'Directory with cloud-controller-manager-webhook.crt and cloud-controller-manager-webhook.key, used when they are there and --webhook-tls-cert-file is not set. Nothing is written to it.',
    },
    webhookTlsCertFile: {
      type: string,
      default: '',
      usage:
        'File with the certificate of the webhooks and its chain (PEM), read again when it changes. Without it, a self-signed one is made at each start, which no API server trusts.',
    },
    webhookTlsPrivateKeyFile: {
      type: string,
      default: '',
      usage: 'File with the private key of --webhook-tls-cert-file (PEM).',
    },
    webhookTlsSniCertKey: {
      type: namedCertKey,
      default: [],
      usage:
        'Another certificate for callers that ask for these names: cert,key or cert,key:*.example.com,example.com. Repeatable.',
    },
    webhookClientCaFile: {
      type: string,
      default: '',
      usage:
        'File with the authorities (PEM) that sign the certificate which the API server shows to webhooks (its --admission-control-config-file names it); read again when it changes. When set, webhooks refuse requests without such a certificate. Empty: requests are not authenticated.',
    },
    webhookTlsMinVersion: {
      type: tlsVersion,
      default: '',
      usage: 'Lowest TLS version for webhooks: VersionTLS12 or VersionTLS13. Empty means VersionTLS12.',
    },
    webhookTlsCipherSuites: {
      type: cipherSuites,
      default: [],
      usage: "Cipher suites for webhooks under TLS 1.2, by Go's names. Empty: the platform's own choice.",
    },
    webhookTlsCurvePreferences: {
      type: curvePreferences,
      default: [],
      usage: "Curves for the key exchange of webhooks, by their numbers in TLS. Empty: the platform's own choice.",
    },
    webhookDisableHttp2Serving: {
      type: bool,
      default: false,
      usage: 'Accepted for compatibility: HTTP/1.1 only is served.',
    },
  },
};

/** Throws a `FlagError`. */
export function checkWebhook({ webhookTlsCertFile, webhookTlsPrivateKeyFile }: Readonly<WebhookOptions>): void {
  if ((webhookTlsCertFile === '') === (webhookTlsPrivateKeyFile === '')) return;
  const [set, missing] = webhookTlsCertFile === '' ? ['private-key', 'cert'] : ['cert', 'private-key'];
  throw new FlagError('invalid-flag', `--webhook-tls-${set}-file is set without --webhook-tls-${missing}-file`);
}
