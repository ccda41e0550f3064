/** What an answer of the API server that refuses this program asks a person to do, beside it in the log. */
import { isForbidden, isUnauthorized, type LogFields, type Logger } from '@outrigger/kube';

const GRANT = 'grant what "outrigger rbac" prints for the flags of this program';
const RENEW = 'renew the token or client certificate of the kubeconfig or service account';

/** The same logger; lines about such an error have the field `remedy`. */
export function withRemedies(logger: Logger): Logger {
  return {
    error: (message, fields) => logger.error(message, remedied(fields)),
    warn: (message, fields) => logger.warn(message, remedied(fields)),
    info: (message, fields) => logger.info(message, fields),
    verbose: (level, message, fields) => logger.verbose(level, message, fields),
    enabled: (level) => logger.enabled(level),
    with: (fields) => withRemedies(logger.with(fields)),
  };
}

function remedied(fields: LogFields | undefined): LogFields | undefined {
  const remedy = remedyOf(fields?.['error']);
  return remedy === undefined ? fields : { ...fields, remedy };
}

/** Admission refuses with a 403 too: RBAC alone says what somebody cannot do. */
function remedyOf(error: unknown): string | undefined {
  if (isForbidden(error) && error.message.includes(' cannot ')) return GRANT;
  return isUnauthorized(error) ? RENEW : undefined;
}
