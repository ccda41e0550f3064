import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serviceOf } from './nlb-rig.suite.ts';
import { settingsFor, usualSettings } from './target-group-settings.ts';

const TERMINATION = 'deregistration_delay.connection_termination.enabled';

test('each protocol has what AWS gives it, and the annotation is over that', () => {
  assert.deepEqual(
    ['TCP', 'TLS', 'UDP', 'TCP_UDP'].map((protocol) => usualSettings(protocol)[TERMINATION]),
    ['false', 'false', 'true', 'true'],
  );
  assert.equal(usualSettings('TCP')['stickiness.enabled'], 'false');
  assert.equal(usualSettings('TLS')['stickiness.enabled'], undefined, 'AWS has no stickiness with TLS');
  const service = serviceOf({ 'target-group-attributes': `${TERMINATION}=false,proxy_protocol_v2.enabled=true` });
  const settings = settingsFor('UDP', service);
  assert.deepEqual([settings[TERMINATION], settings['proxy_protocol_v2.enabled']], ['false', 'true']);
});
