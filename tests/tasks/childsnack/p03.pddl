(define (problem childsnack-03)
  (:domain childsnack)
  (:objects
    child1 child2 - child
    tray1 - tray
    table1 table2 - place
    bread1 bread2 - bread
    filling1 filling2 - filling
    sandwich1 sandwich2 - sandwich
  )
  (:init
    (has-bread bread1)
    (has-bread bread2)
    (has-filling filling1)
    (has-filling filling2)
    (unmade sandwich1)
    (unmade sandwich2)
    (tray-at tray1 kitchen)
    (free-bread bread1)
    (free-filling filling1)
    (allergic child1)
    (sits child1 table2)
    (tolerant child2)
    (sits child2 table2)
  )
  (:goal (and
    (fed child1)
    (fed child2)
  )))
