/** `--tls-min-version`, `--tls-cipher-suites` and `--tls-curve-preferences`: from Go's names to those of OpenSSL. */
import type { SecureContextOptions } from 'node:tls';

/** What may be set. TLS 1.0 and 1.1 are known and not served (RFC 8996). */
export const TLS_VERSIONS = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'] as const;

export type TlsVersion = (typeof TLS_VERSIONS)[number];

/** Go's suites for TLS 1.2 that OpenSSL has too; those of TLS 1.3 are not a matter of choice, as in Go. */
export const CIPHER_SUITES: Readonly<Record<string, string>> = {
  TLS_AES_128_GCM_SHA256: '',
  TLS_AES_256_GCM_SHA384: '',
  TLS_CHACHA20_POLY1305_SHA256: '',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA: 'ECDHE-ECDSA-AES128-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256: 'ECDHE-ECDSA-AES128-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256: 'ECDHE-ECDSA-AES128-GCM-SHA256',
  TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA: 'ECDHE-ECDSA-AES256-SHA',
  TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384: 'ECDHE-ECDSA-AES256-GCM-SHA384',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-ECDSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA: 'ECDHE-RSA-AES128-SHA',
  TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256: 'ECDHE-RSA-AES128-SHA256',
  TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256: 'ECDHE-RSA-AES128-GCM-SHA256',
  TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA: 'ECDHE-RSA-AES256-SHA',
  TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384: 'ECDHE-RSA-AES256-GCM-SHA384',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256: 'ECDHE-RSA-CHACHA20-POLY1305',
  TLS_RSA_WITH_AES_128_CBC_SHA: 'AES128-SHA',
  TLS_RSA_WITH_AES_128_CBC_SHA256: 'AES128-SHA256',
  TLS_RSA_WITH_AES_128_GCM_SHA256: 'AES128-GCM-SHA256',
  TLS_RSA_WITH_AES_256_CBC_SHA: 'AES256-SHA',
  TLS_RSA_WITH_AES_256_GCM_SHA384: 'AES256-GCM-SHA384',
};

/** Go's numbers of curves (crypto/tls `CurveID`, which are those of TLS). */
export const CURVES: Readonly<Record<number, string>> = {
  23: 'prime256v1',
  24: 'secp384r1',
  25: 'secp521r1',
  29: 'X25519',
  4587: 'SecP256r1MLKEM768',
  4588: 'X25519MLKEM768',
  4589: 'SecP384r1MLKEM1024',
};

export interface TlsSettings {
  readonly minVersion: TlsVersion | '';
  /** Go's names. Empty: the platform's own choice. */
  readonly cipherSuites: readonly string[];
  /** Go's numbers. Empty: the platform's own choice. */
  readonly curvePreferences: readonly number[];
}

/** The names and numbers are known: the flags have checked them. */
export function toTlsOptions({ cipherSuites, curvePreferences, minVersion }: TlsSettings): SecureContextOptions {
  const ciphers = [...new Set(cipherSuites.map((name) => CIPHER_SUITES[name] ?? ''))].filter((name) => name !== '');
  return {
    minVersion: minVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
    ...(cipherSuites.length === 0 ? {} : { ciphers: [...TLS13_SUITES, ...ciphers].join(':') }),
    ...(curvePreferences.length === 0 ? {} : { ecdhCurve: curvePreferences.map((id) => CURVES[id]).join(':') }),
  };
}

const TLS13_SUITES = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];
