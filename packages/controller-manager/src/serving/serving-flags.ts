/** The flags of the listener, as upstream names them. */
import type { FlagGroup } from '../flags/flag-group.ts';
import { bool, integer, integers, ip, oneOf, port, string, strings, type FlagType } from '../flags/flag-type.ts';
import { CIPHER_SUITES, CURVES, TLS_VERSIONS, type TlsVersion } from './tls-settings.ts';

/** A certificate for some host names. */
export interface NamedCertKey {
  readonly certFile: string;
  readonly keyFile: string;
  /** `example.com`, `*.example.com`. Empty: those in the certificate. */
  readonly names: readonly string[];
}

export interface ServingOptions {
  bindAddress: string;
  securePort: number;
  certDir: string;
  tlsCertFile: string;
  tlsPrivateKeyFile: string;
  tlsSniCertKey: readonly NamedCertKey[];
  tlsMinVersion: TlsVersion | '';
  tlsCipherSuites: readonly string[];
  tlsCurvePreferences: readonly number[];
  permitPortSharing: boolean;
  permitAddressSharing: boolean;
  disableHttp2Serving: boolean;
  http2MaxStreamsPerConnection: number;
}

/** `cert,key` or `cert,key:name,name`, repeatable. */
export const namedCertKey: FlagType<readonly NamedCertKey[]> = {
  word: 'namedCertKey',
  parse: (text, previous) => {
    const at = text.lastIndexOf(':');
    const files = (at === -1 ? text : text.slice(0, at)).split(',').map((file) => file.trim());
    const [certFile = '', keyFile = ''] = files;
    if (files.length !== 2 || certFile === '' || keyFile === '') throw new Error('not cert,key or cert,key:name,name');
    const names = at === -1 ? [] : text.slice(at + 1).split(',');
    return [...(previous ?? []), { certFile, keyFile, names: names.map((name) => name.trim()).filter(Boolean) }];
  },
  format: (value) =>
    value.map(({ certFile, keyFile, names }) => [`${certFile},${keyFile}`, ...names].join(':')).join(';'),
};

/** Go's names of cipher suites, each checked. */
export const cipherSuites: FlagType<readonly string[]> = {
  ...strings,
  parse: (text, previous) => {
    const names = strings.parse(text, previous);
    const unknown = names.find((name) => !Object.hasOwn(CIPHER_SUITES, name));
    if (unknown === undefined) return names;
    throw new Error(`no cipher suite ${JSON.stringify(unknown)}; there are ${Object.keys(CIPHER_SUITES).join(', ')}`);
  },
};

/** Go's numbers of curves, each checked. */
export const curvePreferences: FlagType<readonly number[]> = {
  ...integers,
  parse: (text, previous) => {
    const ids = integers.parse(text, previous);
    const unknown = ids.find((id) => !Object.hasOwn(CURVES, id));
    if (unknown === undefined) return ids;
    const known = Object.entries(CURVES).map(([id, name]) => `${id} (${name})`);
    throw new Error(`no curve ${unknown}; there are ${known.join(', ')}`);
  },
};

/** One of Go's names of TLS versions; empty: the default. */
export const tlsVersion: FlagType<TlsVersion | ''> = {
  ...oneOf(['', ...TLS_VERSIONS]),
  format: (value) => (value === '' ? '' : JSON.stringify(value)),
};

export const servingFlags: FlagGroup<ServingOptions> = {
  title: 'Secure serving',
  flags: {
    bindAddress: {
      type: ip,
      default: '0.0.0.0',
      usage: 'The IP address to serve on: 0.0.0.0 or :: for all interfaces.',
    },
    securePort: {
      type: port,
      default: 10_258,
      usage: 'The port on which health, metrics and configuration are served over TLS. 0: nothing is served.',
    },
    certDir: {
      type: string,
      default: '',
      usage:
        'Directory with cloud-controller-manager.crt and cloud-controller-manager.key, used once they exist where --tls-cert-file is not set. Nothing is written to it.',
    },
    tlsCertFile: {
      type: string,
      default: '',
      usage:
        'File with the serving certificate and its chain (PEM), reloaded when it changes. If not set, a self-signed certificate is generated at each start.',
    },
    tlsPrivateKeyFile: { type: string, default: '', usage: 'File with the private key of --tls-cert-file (PEM).' },
    tlsSniCertKey: {
      type: namedCertKey,
      default: [],
      usage:
        'An additional certificate for these server names (SNI): cert,key or cert,key:*.example.com,example.com. Can be repeated.',
    },
    tlsMinVersion: {
      type: tlsVersion,
      default: '',
      usage:
        'Minimum TLS version: VersionTLS12 or VersionTLS13. Empty, VersionTLS10 and VersionTLS11 mean VersionTLS12.',
    },
    tlsCipherSuites: {
      type: cipherSuites,
      default: [],
      usage: 'Cipher suites for TLS 1.2, by their names in Go. If empty, the defaults of Node.',
    },
    tlsCurvePreferences: {
      type: curvePreferences,
      default: [],
      usage: 'Curves for the key exchange, by their IDs in TLS. If empty, the defaults of Node.',
    },
    permitPortSharing: {
      type: bool,
      default: false,
      usage: 'Listen with SO_REUSEPORT, so that another process can listen on the same address and port.',
    },
    permitAddressSharing: {
      type: bool,
      default: false,
      compatibility: true,
      usage: 'Accepted for compatibility: SO_REUSEADDR is always set.',
    },
    disableHttp2Serving: {
      type: bool,
      default: false,
      compatibility: true,
      usage: 'Accepted for compatibility: only HTTP/1.1 is served.',
    },
    http2MaxStreamsPerConnection: {
      type: integer({ min: 0 }),
      default: 0,
      compatibility: true,
      usage: 'Accepted for compatibility: only HTTP/1.1 is served.',
    },
  },
};
