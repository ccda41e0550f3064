import type { TestContext } from 'node:test';

/** Sets variables of this process, which programs inherit that a test starts, until it ends. */
export function setEnv(t: TestContext, env: Readonly<Record<string, string>>): void {
  const before = { ...process.env };
  Object.assign(process.env, env);
  t.after(() => {
    for (const key of Object.keys(env)) delete process.env[key];
    Object.assign(process.env, before);
  });
}
