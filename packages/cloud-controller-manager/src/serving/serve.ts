/** The program's listener, from its flags. */
import {
  createPages,
  renderFlagz,
  renderStatusz,
  startSecureServer,
  type DelegatedAccess,
  type LeaderMigrationConfig,
  type SecureServer,
} from '@outrigger/controller-manager';
import { certificatePairOf } from './certificate-pair.ts';
import { renderConfigz } from './configz.ts';
import { explainPage } from '../explain/explain-page.ts';
import { planPage } from '../explain/plan-page.ts';
import type { Foundation } from '../program/foundation.ts';
import { version, versionInfo } from '../program/version.ts';

/** Also upstream's name for the pair in `--cert-dir`. */
const NAME = 'cloud-controller-manager';

/** `migration`: as it is shown at /configz. `leader`: who leads, '' when that is not known. `undefined` with `--secure-port=0`. */
export async function serve(
  foundation: Foundation,
  access: DelegatedAccess,
  migration: LeaderMigrationConfig | undefined,
  leader: () => string,
): Promise<SecureServer | undefined> {
  const { clock, health, logger, metrics, options, redactor, setVerbosity, slis, startedAt } = foundation;
  const { debugging, serving } = options;
  if (serving.securePort === 0) return undefined;
  const { certDir, tlsCertFile, tlsPrivateKeyFile } = serving;
  const tls = certificatePairOf({ certDir, certFile: tlsCertFile, keyFile: tlsPrivateKeyFile }, NAME);
  const server = await startSecureServer({
    app: createPages({
      access: access.policy,
      health,
      clock,
      logger,
      metrics,
      slis,
      setVerbosity: debugging.profiling ? setVerbosity : undefined,
      configz: () => renderConfigz(options, migration),
      flagz: options.gates.enabled('ComponentFlagz')
        ? () => redactor.redact(renderFlagz(NAME, foundation.live.current.flagValues))
        : undefined,
      statusz: options.gates.enabled('ComponentStatusz')
        ? (paths) => renderStatusz({ component: NAME, clock, paths, startedAt, version })
        : undefined,
      pages: [
        ...(debugging.profiling ? [explainPage(foundation, leader)] : []),
        ...(debugging.dryRun ? [planPage(foundation)] : []),
      ],
      version: versionInfo(),
    }),
    bindAddress: serving.bindAddress,
    clientAuthorities: access.clientAuthorities,
    clock,
    logger,
    metrics,
    named: serving.tlsSniCertKey,
    port: serving.securePort,
    settings: {
      minVersion: serving.tlsMinVersion,
      cipherSuites: serving.tlsCipherSuites,
      curvePreferences: serving.tlsCurvePreferences,
    },
    sharePort: serving.permitPortSharing,
    ...(tls === undefined ? {} : { tls }),
  });
  logger.info('Serving', { url: server.url });
  return server;
}
