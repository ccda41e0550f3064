/** The flags of the webhook server, which upstream starts behind the gate CloudControllerManagerWebhook. */
import {
  bool,
  cipherSuites,
  curvePreferences,
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
  webhookTlsMinVersion: TlsVersion | '';
  webhookTlsCipherSuites: readonly string[];
  webhookTlsCurvePreferences: readonly number[];
  webhookDisableHttp2Serving: boolean;
}

/** The same for all: what they would set is not there. */
const usage = 'Accepted for compatibility: this version has no webhook server.';

export const webhookFlags: FlagGroup<WebhookOptions> = {
  title: 'Webhook',
  flags: {
    webhooks: { type: strings, default: [], usage },
    webhookBindAddress: { type: ip, default: '0.0.0.0', usage },
    webhookSecurePort: { type: port, default: 10_260, usage },
    webhookCertDir: { type: string, default: '', usage },
    webhookTlsCertFile: { type: string, default: '', usage },
    webhookTlsPrivateKeyFile: { type: string, default: '', usage },
    webhookTlsSniCertKey: { type: namedCertKey, default: [], usage },
    webhookTlsMinVersion: { type: tlsVersion, default: '', usage },
    webhookTlsCipherSuites: { type: cipherSuites, default: [], usage },
    webhookTlsCurvePreferences: { type: curvePreferences, default: [], usage },
    webhookDisableHttp2Serving: { type: bool, default: false, usage },
  },
};
