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
        'Webhooks to serve: pvlabel, service, or * for all; -pvlabel disables it. If empty, none. Requires --feature-gates=CloudControllerManagerWebhook=true.',
    },
    webhookBindAddress: {
      type: ip,
      default: '0.0.0.0',
      usage: 'The IP address to serve webhooks on: 0.0.0.0 or :: for all interfaces.',
    },
    webhookSecurePort: {
      type: port,
      default: 10_260,
      usage: 'The port on which webhooks are served over TLS. 0: none are served.',
    },
    webhookCertDir: {
      type: string,
      default: '',
      usage:
        'Directory with cloud-controller-manager-webhook.crt and cloud-controller-manager-webhook.key, used once they exist where --webhook-tls-cert-file is not set. Nothing is written to it.',
    },
    webhookTlsCertFile: {
      type: string,
      default: '',
      usage:
        'File with the certificate of the webhooks and its chain (PEM), reloaded when it changes. If not set, a self-signed certificate is generated at each start, which no API server trusts.',
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
        'An additional certificate for these server names (SNI): cert,key or cert,key:*.example.com,example.com. Can be repeated.',
    },
    webhookClientCaFile: {
      type: string,
      default: '',
      usage:
        'File with the certificate authorities (PEM) that sign the client certificate which the API server presents to webhooks (see its --admission-control-config-file); reloaded when it changes. If set, others and kubelets (system:nodes) are rejected. If empty, all are accepted.',
    },
    webhookTlsMinVersion: {
      type: tlsVersion,
      default: '',
      usage: 'Minimum TLS version for webhooks: VersionTLS12 or VersionTLS13. Empty means VersionTLS12.',
    },
    webhookTlsCipherSuites: {
      type: cipherSuites,
      default: [],
      usage: 'Cipher suites of webhooks for TLS 1.2, by their names in Go. If empty, the defaults of Node.',
    },
    webhookTlsCurvePreferences: {
      type: curvePreferences,
      default: [],
      usage: 'Curves for the key exchange of webhooks, by their IDs in TLS. If empty, the defaults of Node.',
    },
    webhookDisableHttp2Serving: {
      type: bool,
      default: false,
      compatibility: true,
      usage: 'Accepted for compatibility: only HTTP/1.1 is served.',
    },
  },
};

/** Throws a `FlagError`. */
export function checkWebhook({ webhookTlsCertFile, webhookTlsPrivateKeyFile }: Readonly<WebhookOptions>): void {
  if ((webhookTlsCertFile === '') === (webhookTlsPrivateKeyFile === '')) return;
  const [set, missing] = webhookTlsCertFile === '' ? ['private-key', 'cert'] : ['cert', 'private-key'];
  throw new FlagError('invalid-flag', `--webhook-tls-${set}-file is set without --webhook-tls-${missing}-file`);
}
