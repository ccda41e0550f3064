import { startEmbeddedApiServer, type EmbeddedApiServerOptions } from './api-server/embedded-api-server.ts';
import { apiServerSuite, type ApiServerSubject } from './api-server.suite.ts';

async function startSubject(options: EmbeddedApiServerOptions): Promise<ApiServerSubject> {
  const server = await startEmbeddedApiServer(options);
  return {
    url: server.url,
    ca: server.ca,
    token: server.token,
    compact: async () => server.compact(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

apiServerSuite('embedded', () => startSubject({}));
