// @hey-api/openapi-ts with its fetch client.
import { filled, functionName, literal, run, testClient } from '../lib/generated.mjs';

const typeName = (id) => functionName(id).replace(/^\w/, (letter) => letter.toUpperCase());

function options({ path, query, headers, body, token, id }) {
  const parts = ['client'];
  if (filled(path)) parts.push(`path: ${literal(path)}`);
  if (query) parts.push(`query: ${literal(query)}`);
  if (filled(headers)) parts.push(`headers: ${literal(headers)}`);
  if (body) parts.push(`body: ${literal(body)}`);
  if (token) parts.push(`auth: ${literal(token)}`);
  if (id === 'files.content') parts.push("parseAs: 'text'");
  return `{ ${parts.join(', ')} }`;
}

testClient('@hey-api/openapi-ts', {
  generate: (folder) => run(folder, 'openapi-ts', '--input', 'openapi.json', '--output', 'generated', '--no-log-file'),
  head: [
    "import { createClient } from './generated/client';",
    "import * as sdk from './generated/sdk.gen';",
    "import type * as types from './generated/types.gen';",
  ].join('\n'),
  setup: ['  const client = createClient({ baseUrl, auth: token });'],
  answerType: ({ id }, status) => `types.${typeName(id)}Responses[${status}]`,
  call: (call) =>
    `sdk.${functionName(call.id)}(${options(call)})` +
    '.then(({ data, error, response }) => ({ status: response.status, data: data ?? error }))',
});
