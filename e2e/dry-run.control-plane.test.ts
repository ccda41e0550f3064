import { controlPlaneOrSkip } from '@outrigger/testing';
import { dryRunSuite } from './dry-run.suite.ts';

const READS = ['get', 'list', 'watch'];

dryRunSuite('kube-apiserver', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return (
    controlPlane && {
      kubeconfig: controlPlane.kubeconfig.path,
      writes: async () => {
        const entries = await controlPlane.auditLog.requests(
          ({ userAgent = '', verb }) => userAgent.startsWith('outrigger/') && !READS.includes(verb),
        );
        return entries.map(({ requestURI, verb }) => `${verb} ${requestURI}`);
      },
      // The test ends it.
      [Symbol.asyncDispose]: () => Promise.resolve(),
    }
  );
});
