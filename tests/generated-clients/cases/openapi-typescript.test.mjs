// openapi-typescript with openapi-fetch.
import { filled, literal, run, testClient } from '../lib/generated.mjs';

function options({ path, query, headers, body, token, id }) {
  const parts = [`params: ${literal({ path: filled(path), query, header: filled(headers) })}`];
  if (body) parts.push(`body: ${literal(body)}`);
  if (token) parts.push(`headers: { Authorization: ${literal(`Bearer ${token}`)} }`);
  if (id === 'files.content') parts.push("parseAs: 'text'");
  return `{ ${parts.join(', ')} }`;
}

// A member with a default is not one that a request must hold; an object of which nothing is said may hold anything.
const flags = ['--default-non-nullable=false', '--empty-objects-unknown'];

testClient('openapi-typescript', {
  generate: (folder) => run(folder, 'openapi-typescript', 'openapi.json', ...flags, '-o', 'schema.ts'),
  head: "import createClient from 'openapi-fetch';\nimport type { operations, paths } from './schema';",
  setup: ['  const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });'],
  answerType: ({ id }, status) => `operations[${literal(id)}]['responses'][${status}]['content']['application/json']`,
  call: (call) =>
    `client.${call.method}(${literal(call.template)}, ${options(call)})` +
    '.then(({ data, error, response }) => ({ status: response.status, data: data ?? error }))',
});
