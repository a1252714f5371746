// ky with what it has without being asked: two retries, for GET and the like, not for POST; and 10 s for a call.
import ky from 'ky';

const client = ky.create({
  prefixUrl: process.env.WS_BASE_URL,
  headers: { Authorization: `Bearer ${process.env.WS_TOKEN}` },
});
try {
  const template = await client.get(`v1/documents/${process.argv[2]}`).json();
  const note = { title: `${template.title}, week 48`, content: 'All is well.' };
  const made = await client.post('v1/documents', { json: note }).json();
  if (!made.id) throw new Error('the answer cannot be read');
  console.log('created', made.id);
} catch (error) {
  console.error(`failed: ${error.message}`);
  process.exitCode = 1;
}
