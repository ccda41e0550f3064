import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, StatusError, type LogFields, type Logger } from '@outrigger/kube';
import { withRemedies } from './remedies.ts';

const refused = (code: number, message: string): StatusError =>
  new StatusError('GET /api/v1/nodes', code, { kind: 'Status', apiVersion: 'v1', code, message });

test('what refuses the program is logged with what to do about it', () => {
  const lines: (LogFields | undefined)[] = [];
  const take = (_message: string, fields?: LogFields): void => void lines.push(fields);
  const recording: Logger = { ...silentLogger, error: take, warn: take, with: () => recording };
  const logger = withRemedies(recording);
  logger.warn('x', {
    error: refused(403, 'nodes is forbidden: User "ccm" cannot list resource "nodes"'),
    phase: 'list',
  });
  logger.with({ component: 'a' }).error('x', { error: refused(401, 'Unauthorized') });
  logger.warn('x', { error: refused(403, 'exceeded quota: compute') });
  logger.warn('x', { error: new Error('no') });
  logger.error('x');
  assert.deepEqual(
    lines.map((fields) => fields?.['remedy']),
    [
      'grant what "outrigger rbac" prints for the flags of this program',
      'renew the token or client certificate of the kubeconfig or service account',
      undefined,
      undefined,
      undefined,
    ],
  );
  assert.equal(lines[0]?.['phase'], 'list');
});
