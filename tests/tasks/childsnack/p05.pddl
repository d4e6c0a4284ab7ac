(define (problem childsnack-05)
  (:domain childsnack)
  (:objects
    child1 child2 child3 - child
    tray1 - tray
    table1 table2 - place
    bread1 bread2 bread3 - bread
    filling1 filling2 filling3 - filling
    sandwich1 sandwich2 sandwich3 - sandwich
  )
  (:init
    (has-bread bread1)
    (has-bread bread2)
    (has-bread bread3)
    (has-filling filling1)
    (has-filling filling2)
    (has-filling filling3)
    (unmade sandwich1)
    (unmade sandwich2)
    (unmade sandwich3)
    (tray-at tray1 kitchen)
    (free-bread bread3)
    (free-filling filling2)
    (allergic child1)
    (sits child1 table2)
    (tolerant child2)
    (sits child2 table1)
    (tolerant child3)
    (sits child3 table2)
  )
  (:goal (and
    (fed child1)
    (fed child2)
    (fed child3)
  )))
