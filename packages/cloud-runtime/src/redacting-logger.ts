/** A logger that never prints what the provider has named as secret. */
import type { Logger } from '@outrigger/kube';
import type { Secrets } from './secrets.ts';

export function redactingLogger(logger: Logger, secrets: Secrets): Logger {
  return {
    error: (message, fields) => logger.error(secrets.redact(message), fields && secrets.redactFields(fields)),
    warn: (message, fields) => logger.warn(secrets.redact(message), fields && secrets.redactFields(fields)),
    info: (message, fields) => logger.info(secrets.redact(message), fields && secrets.redactFields(fields)),
    verbose: (level, message, fields) => {
      if (logger.enabled(level)) logger.verbose(level, secrets.redact(message), fields && secrets.redactFields(fields));
    },
    enabled: (level) => logger.enabled(level),
    with: (fields) => redactingLogger(logger.with(secrets.redactFields(fields)), secrets),
  };
}
