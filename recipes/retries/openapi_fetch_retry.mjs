// openapi-fetch with a middleware that repeats after 429 and 5xx, and a key that is the same with each try.
import createClient from 'openapi-fetch';

const headers = { Authorization: `Bearer ${process.env.WS_TOKEN}` };
const client = createClient({ baseUrl: process.env.WS_BASE_URL, headers });
const copies = new Map();
client.use({
  onRequest({ id, request }) { copies.set(id, request.clone()); },
  async onResponse({ id, response }) {
    for (let attempt = 1; attempt <= 3 && (response.status === 429 || response.status >= 500); ++attempt) {
      const seconds = Number(response.headers.get('Retry-After') ?? 2 ** attempt / 10);
      await new Promise((done) => setTimeout(done, seconds * 1000));
      response = await fetch(copies.get(id).clone());
    }
    return response;
  },
});
try {
  const path = { document_id: process.argv[2] };
  const template = await client.GET('/v1/documents/{document_id}', { params: { path } });
  if (!template.data) throw new Error(`the template was not read: ${template.response.status}`);
  const header = { 'Idempotency-Key': crypto.randomUUID() };
  const body = { title: `${template.data.title}, week 48`, content: 'All is well.' };
  const made = await client.POST('/v1/documents', { params: { header }, body });
  if (!made.data?.id) throw new Error(`not created: ${made.response.status}`);
  console.log('created', made.data.id);
} catch (error) {
  console.error(`failed: ${error.message}`);
  process.exitCode = 1;
}
