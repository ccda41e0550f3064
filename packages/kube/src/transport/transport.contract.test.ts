import { transportContract } from './transport.suite.ts';

transportContract('h2');
transportContract('h1-tls');
transportContract('h1');
