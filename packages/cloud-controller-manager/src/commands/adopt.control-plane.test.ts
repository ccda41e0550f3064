import { controlPlaneOrSkip } from '@outrigger/testing';
import { testAdopt } from './adopt.suite.ts';

testAdopt('real API server', async (t) => (await controlPlaneOrSkip(t))?.kubeconfig.path);
