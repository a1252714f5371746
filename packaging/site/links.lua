-- Links between documents become links between pages; those to sources keep their text alone.
function Link(link)
  local target = link.target
  if target:match('^%a+:') or target:match('^#') then return nil end
  local path, anchor = target:match('^([^#]*)(#?.*)$')
  if path:match('README%.md$') then
    path = path:gsub('README%.md$', 'index.html')
  elseif path:match('%.md$') then
    path = path:gsub('%.md$', '.html')
  elseif not (path:match('schemas%.json$') or path:match('LICENSE$') or path:match('THIRD_PARTY$') or path:match('%.svg$') or path:match('%.html$') or path:match('/$')) then
    return link.content
  end
  if path:match('/$') then path = path .. 'index.html' end
  link.target = path .. anchor
  return link
end
