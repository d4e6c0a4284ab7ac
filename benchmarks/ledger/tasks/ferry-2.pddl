(define (problem ferry-generated)
  (:domain ferry)
  (:objects
    port1 port2 port3
    car1 car2
  )
  (:init
    (port port1)
    (port port2)
    (port port3)
    (car car1)
    (car car2)
    (deck-free)
    (ferry-at port2)
    (car-at car1 port2)
    (car-at car2 port2)
  )
  (:goal (and
    (car-at car1 port1)
    (car-at car2 port3)
  )))
